import { nodeWeb } from '../../../server/bin/node-web.ts'
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
  const log = complaintLog(complaints)
  const camera = await TestCamera.start(testCameraSpecSchema.parse({ name: 'camera', ...spec }), nodeWeb(log), log)
  return { camera, url: camera.url, complaints, [Symbol.dispose]: () => camera.close() }
}
