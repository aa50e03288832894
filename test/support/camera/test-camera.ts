import { nodeWeb } from '../../../server/bin/node-web.ts'
import { TestCamera } from '../../../server/media/test-camera/test-camera.ts'
import { smallPictureUrl, type TestCameraSpec, testCameraSpecSchema } from '../../../shared/media/test-camera.ts'
import { complaintLog } from '../media/complaints.ts'

/** A test camera of the lab in this process. */
export interface RunningTestCamera extends Disposable, AsyncDisposable {
  camera: TestCamera
  port: number
  /** Address of its large picture: 640 × 360, 12 pictures a second, a key picture every 2 seconds. */
  url: string
  /** Address of its small picture: 320 × 180. */
  smallUrl: string
  /** Warnings and errors in its log. */
  complaints: readonly string[]
  /** Closes its port and its connections, without an answer to anybody. */
  close(): void
}

/** Starts a test camera at a free port of 127.0.0.1, unless the specification names a port or the network. */
export async function startTestCamera(spec: Partial<TestCameraSpec> = {}): Promise<RunningTestCamera> {
  const complaints: string[] = []
  const log = complaintLog(complaints)
  const camera = await TestCamera.start(testCameraSpecSchema.parse({ name: 'camera', ...spec }), nodeWeb(log), log)
  const { url, port } = camera
  const close = (): void => camera.close()
  return {
    ...{ camera, port, url, complaints, close },
    smallUrl: smallPictureUrl({ name: camera.spec.name, port }),
    [Symbol.dispose]: close,
    [Symbol.asyncDispose]: async () => close(),
  }
}
