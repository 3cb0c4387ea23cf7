"""WGAN with a gradient penalty, spectral norms, and two learning rates; a critic that is trained more often."""

import numpy as np
import torch
import torch.autograd as autograd
import torch.nn as nn
from torch.autograd import Variable
from torch.nn.utils.parametrizations import spectral_norm

from given import normals, start

cuda = True if torch.cuda.is_available() and False else False
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
img_shape = (1, 6, 6)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(*block(5, 8, normalize=False), *block(8, 16), nn.Linear(16, int(np.prod(img_shape))), nn.Tanh())

    def forward(self, z):
        img = self.model(z)
        return img.view(img.shape[0], *img_shape)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(nn.Linear(int(np.prod(img_shape)), 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 1))

    def forward(self, img):
        return self.model(img.view(img.shape[0], -1))


def compute_gradient_penalty(D, real_samples, fake_samples, i):
    alpha = Tensor(np.random.RandomState(i).rand(real_samples.size(0), 1, 1, 1))
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = Variable(Tensor(real_samples.shape[0], 1).fill_(1.0), requires_grad=False)
    gradients = autograd.grad(outputs=d_interpolates, inputs=interpolates, grad_outputs=fake, create_graph=True, retain_graph=True, only_inputs=True)[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def main():
    generator, discriminator = start(torch, Generator(), 1), start(torch, Discriminator(), 2)
    optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=4e-3, betas=(0.5, 0.999))
    out = []
    for i in range(6):
        real_imgs = Variable(torch.tensor(normals(i, 4, *img_shape)).type(Tensor))
        optimizer_D.zero_grad()
        z = Variable(Tensor(np.random.RandomState(100 + i).normal(0, 1, (4, 5))))
        fake_imgs = generator(z)
        real_validity, fake_validity = discriminator(real_imgs), discriminator(fake_imgs.detach())
        penalty = compute_gradient_penalty(discriminator, real_imgs.data, fake_imgs.data, i)
        d_loss = -torch.mean(real_validity) + torch.mean(fake_validity) + 10 * penalty
        d_loss.backward()
        optimizer_D.step()
        optimizer_G.zero_grad()
        if i % 3 == 0:
            fake_imgs = generator(z)
            g_loss = -torch.mean(discriminator(fake_imgs))
            g_loss.backward()
            optimizer_G.step()
        out += [d_loss.item(), penalty.item(), g_loss.item()]
    torch.manual_seed(0)
    layer = spectral_norm(nn.Linear(4, 3))
    with torch.no_grad():
        for _ in range(30):
            layer(torch.ones(1, 4))
    assert abs(torch.linalg.matrix_norm(layer.weight, ord=2).item() - 1) < 1e-3
    return out
