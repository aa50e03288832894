import { StreamPort } from '../../../server/edge/stream-port.ts'
import { TestCamera } from '../../../server/media/test-camera/test-camera.ts'
import { type TestCameraSpec, testCameraSpecSchema } from '../../../shared/media/test-camera.ts'
import { complaintLog } from '../media/complaints.ts'

/** A test camera of the lab in this process. */
export interface RunningTestCamera extends Disposable {
  camera: TestCamera
  /** Address of its large picture. */
  url: string
  /** Warnings and errors in its log. */
  complaints: readonly string[]
}

/** Starts a test camera at a free port of 127.0.0.1. */
export async function startTestCamera(spec: Partial<TestCameraSpec> = {}): Promise<RunningTestCamera> {
  const complaints: string[] = []
  const camera = await TestCamera.start(
    testCameraSpecSchema.parse({ name: 'camera', ...spec }),
    (options) => new StreamPort(options),
    complaintLog(complaints),
  )
  return { camera, url: camera.state.url, complaints, [Symbol.dispose]: () => camera.close() }
}
