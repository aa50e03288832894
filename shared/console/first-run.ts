import { z } from 'zod'
import { limits } from '../limits.ts'
import { nameBytes } from '../operation.ts'
import { firstRunPurposes, firstRunSteps } from '../first-run.ts'
import { change, read } from './declare.ts'
import { done, emptyOutcome } from '../domain/outcome.ts'
import { admin } from './procedure-access.ts'
import { changes, unrecorded } from './procedure-events.ts'
import { deviceInput, deviceView } from '../domain/devices.ts'

const firstRunView = z.strictObject({
  purpose: z.enum(firstRunPurposes),
  step: z.enum(firstRunSteps),
  /** Room created by the first run; null: none, or it was deleted. */
  room: z.strictObject({ room_id: z.string(), topic: z.string() }).nullable(),
  /** Whether the created room was deleted. */
  room_deleted: z.boolean(),
  /** userId of the camera last added to this room; empty: no camera, or the camera was deleted. */
  camera: z.string(),
  /** Whether other devices can connect to the ports. */
  open: z.boolean(),
  /** Addresses of this machine in its networks, the most likely one first. */
  addresses: z.array(z.string()),
  /** Address used in links; empty: none. */
  address: z.string(),
})

export const firstRunProcedures = {
  'first_run.get': read({
    summary: 'State of the first run: where it is, and what was made.',
    input: emptyOutcome,
    output: firstRunView,
    access: admin('site:read'),
    refreshOn: ['settings.changed', 'listeners.changed', 'rooms.changed', 'devices.changed'],
  }),
  'first_run.save': change({
    summary: 'Remember the purpose and the step, so that the first run continues there.',
    input: z.strictObject({ purpose: z.enum(firstRunPurposes).optional(), step: z.enum(firstRunSteps).optional() }),
    output: done,
    access: admin('site:write'),
    event: unrecorded('only remembers a page of the first run'),
  }),
  'first_run.make_room': change({
    summary: 'Make the first room. While it exists, a repetition returns it with its new topic.',
    input: z.strictObject({ topic: nameBytes(1, limits.topic) }),
    output: z.strictObject({ room_id: z.string(), topic: z.string() }),
    access: admin('rooms:write'),
    event: changes('room'),
  }),
  'first_run.add_camera': change({
    summary: 'Add a camera to the first room. One with the same address there is returned, with the new login.',
    input: deviceInput.pick({
      userName: true,
      userAddress: true,
      login_name: true,
      login_password: true,
      assist_address: true,
    }),
    output: deviceView,
    access: admin('devices:write'),
    event: changes('device'),
  }),
  'first_run.add_test_camera': change({
    summary: 'Start the test camera, and add it to the first room unless it is there.',
    input: deviceInput.pick({ userName: true }),
    output: deviceView,
    access: admin('devices:write'),
    event: changes('device'),
  }),
}
