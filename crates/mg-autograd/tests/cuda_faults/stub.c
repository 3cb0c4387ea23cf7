/* A driver that computes nothing: memory is the host's, launches do nothing, and each call answers what the environment
   says it should (STUB_SYNC, STUB_LAUNCH, STUB_LOAD, STUB_ALLOC: a result code). */
#include <stdlib.h>
#include <string.h>
static unsigned code(const char *name) { const char *text = getenv(name); return text ? (unsigned)atoi(text) : 0; }
static int launched; /* copies fail after a launch only */
typedef unsigned U; typedef void* H; typedef unsigned long long A;
U cuDriverGetVersion(int*v){*v=12080;return 0;} U cuInit(U f){return 0;} U cuDeviceGetCount(int*n){*n=1;return 0;}
U cuDeviceGet(int*d,int i){*d=i;return 0;} U cuDeviceGetName(char*s,int n,int d){strcpy(s,"Stub");return 0;}
U cuGetErrorName(U c,const char**s){*s=c==719?"CUDA_ERROR_LAUNCH_FAILED":0;return c!=719;}
U cuDeviceGetAttribute(int*v,U a,int d){*v=a==75?9:a==76?0:132;return 0;}
U cuDeviceTotalMem_v2(size_t*n,int d){*n=1ull<<34;return 0;}
U cuDeviceCanAccessPeer(int*c,int a,int b){*c=1;return 0;} U cuCtxEnablePeerAccess(H h,U f){return 704;}
U cuDevicePrimaryCtxRetain(H*h,int d){*h=(H)1;return 0;} U cuCtxSetCurrent(H h){return 0;}
U cuStreamCreate(H*h,U f){*h=(H)2;return 0;} U cuStreamSynchronize(H h){return code("STUB_SYNC");} U cuStreamWaitEvent(H a,H b,U f){return 0;}
U cuEventCreate(H*h,U f){*h=(H)3;return 0;} U cuEventDestroy_v2(H h){return 0;} U cuEventRecord(H a,H b){return 0;} U cuEventSynchronize(H a){return launched?code("STUB_SYNC"):0;}
U cuMemGetInfo_v2(size_t*a,size_t*b){*a=1ull<<33;*b=1ull<<34;return 0;}
U cuMemAlloc_v2(A*a,size_t n){if(n<=(1u<<25)||!code("STUB_ALLOC")){*a=(A)calloc(1,n);return *a?0:2;}return code("STUB_ALLOC");} U cuMemFree_v2(A a){free((void*)a);return 0;}
U cuMemHostAlloc(H*p,size_t n,U f){*p=malloc(n);return 0;} U cuMemHostGetDevicePointer_v2(A*a,H p,U f){*a=(A)p;return 0;}
U cuMemsetD8Async(A a,unsigned char b,size_t n,H s){memset((void*)a,b,n);return 0;}
U cuMemcpyHtoDAsync_v2(A a,const void*p,size_t n,H s){memcpy((void*)a,p,n);return 0;}
U cuMemcpyDtoHAsync_v2(void*p,A a,size_t n,H s){memcpy(p,(void*)a,n);return 0;}
U cuMemcpyDtoDAsync_v2(A a,A b,size_t n,H s){memmove((void*)a,(void*)b,n);return 0;}
U cuMemcpyPeerAsync(A a,H c,A b,H d,size_t n,H s){memmove((void*)a,(void*)b,n);return 0;}
U cuModuleLoadDataEx(H*m,const void*i,U n,U*o,H*v){*m=(H)4;return code("STUB_LOAD");} U cuModuleGetFunction(H*f,H m,const char*n){*f=(H)5;return 0;}
U cuFuncSetAttribute(H f,U a,int v){return 0;}
U cuLaunchKernel(H f,U a,U b,U c,U d,U e,U g,U h,H s,H*p,H*x){launched=1;return code("STUB_LAUNCH");}
U cuGraphCreate(H*h,U f){*h=(H)6;return 0;} U cuGraphDestroy(H h){return 0;} U cuGraphAddKernelNode_v2(H*n,H g,const H*d,size_t k,const void*p){*n=(H)7;return 0;}
U cuGraphInstantiateWithFlags(H*e,H g,unsigned long long f){*e=(H)8;return 0;} U cuGraphExecKernelNodeSetParams_v2(H e,H n,const void*p){return 0;}
U cuGraphExecDestroy(H e){return 0;} U cuGraphLaunch(H e,H s){return 0;}
