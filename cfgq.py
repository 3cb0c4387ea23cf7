S=2.0
def get(): return S
