import { z } from 'zod'
import { limits } from '../limits.ts'
import { nameBytes } from '../operation.ts'
import { firstRunPurposes, firstRunSteps } from '../first-run.ts'
import { deviceInput, deviceView } from './devices.ts'
import { done, nothing, procedure } from './procedure.ts'

const firstRunView = z.strictObject({
  purpose: z.enum(firstRunPurposes),
  step: z.enum(firstRunSteps),
  /** The room that was made; null: none, or it was deleted. */
  room: z.strictObject({ room_id: z.string(), topic: z.string() }).nullable(),
  /** It made a room, which was deleted. */
  room_deleted: z.boolean(),
  /** userId of the camera that was added to this room last; empty: none, or it was deleted. */
  camera: z.string(),
  /** Other devices can connect to the ports. */
  open: z.boolean(),
  /** Addresses of this machine on networks, the most likely one first. */
  addresses: z.array(z.string()),
  /** The address of these that links name; empty: none. */
  address: z.string(),
})
export type FirstRunView = z.output<typeof firstRunView>

export const firstRunProcedures = {
  'first_run.get': procedure('State of the first run: where it is, and what was made.', nothing, firstRunView),
  'first_run.save': procedure(
    'Remember the purpose and the step, so that the first run continues there.',
    z.strictObject({ purpose: z.enum(firstRunPurposes).optional(), step: z.enum(firstRunSteps).optional() }),
    done,
  ),
  'first_run.make_room': procedure(
    'Make the first room. While it exists, a repetition returns it with its new topic.',
    z.strictObject({ topic: nameBytes(1, limits.topic) }),
    z.strictObject({ room_id: z.string(), topic: z.string() }),
  ),
  'first_run.add_camera': procedure(
    'Add a camera to the first room. One with the same address there is returned, with the new login.',
    deviceInput.pick({
      userName: true,
      userAddress: true,
      login_name: true,
      login_password: true,
      assist_address: true,
    }),
    deviceView,
  ),
  'first_run.add_test_camera': procedure(
    'Start the test camera, and add it to the first room unless it is there.',
    deviceInput.pick({ userName: true }),
    deviceView,
  ),
}
