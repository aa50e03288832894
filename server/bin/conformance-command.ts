import { testCameraSpecSchema } from '../../shared/media/test-camera.ts'
import type { RunCommand } from '../lab/command.ts'
import type { OpenCamera } from '../lab/conformance/cameras.ts'
import { runConformance } from '../lab/conformance/command.ts'
import type { MediaLog } from '../media/base/media-log.ts'
import { TestCamera } from '../media/test-camera/test-camera.ts'
import { nodeWeb } from './node-web.ts'

/** The command `roomdesk conformance`. */
export const conformance: RunCommand = (context) => runConformance(context, openCamera)

const noLog: MediaLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Starts a camera on this machine that streams. */
export async function openCamera(): Promise<OpenCamera> {
  const spec = testCameraSpecSchema.parse({ name: 'conformance' })
  const camera = await TestCamera.start(spec, nodeWeb(noLog), noLog)
  return { url: camera.url, close: () => camera.close() }
}
