import { z } from 'zod'
import { testCameraFields, testCameraStateSchema } from '../media/test-camera.ts'

/** A test camera with its current state. Its login is no secret: the console shows it. */
export const testCameraView = testCameraFields.extend({
  ...testCameraStateSchema.shape,
  url: z.string(),
  assist_url: z.string(),
  /** Address for other machines; empty: only this machine may connect. */
  network_url: z.string(),
  /** Reason why the camera does not run; null: it runs. `node`: no embedded node runs it. */
  problem: z.enum(['port', 'failed', 'node']).nullable(),
})
export type TestCameraView = z.output<typeof testCameraView>
