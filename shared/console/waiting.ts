import { z } from 'zod'
import { act, read } from './declare.ts'
import { emptyOutcome } from '../domain/outcome.ts'
import { operator, viewer } from './procedure-access.ts'
import { subject } from './procedure-events.ts'
import { roomId, userId } from '../domain/ids.ts'
import { waitingView } from '../domain/waiting.ts'

/** Reasons why a waiting person was not admitted. */
const refusals = ['notWaiting', 'locked', 'roomFull', 'failed'] as const

/**
 * Result of admitting or refusing. `people`: affected people; `refusal`: reason why others were not admitted, null:
 * none.
 */
const outcome = z.strictObject({
  people: z.array(z.strictObject({ user_id: z.string(), user_name: z.string() })),
  refusal: z.enum(refusals).nullable(),
})

/** Procedures for people who wait to enter rooms. */
export const waitingProcedures = {
  'waiting.list': read({
    summary: 'Everybody who waits to be let into a room, in order of arrival.',
    input: emptyOutcome,
    output: waitingView,
    access: viewer('rooms:read'),
    refreshOn: ['waiting.changed'],
  }),
  'waiting.admit': act({
    summary: 'Let in somebody who waits before a room; without user_id, everybody.',
    input: z.strictObject({ room_id: roomId, user_id: userId.optional() }),
    output: outcome,
    access: operator('rooms:write'),
    event: {
      room: ({ room_id }) => room_id,
      acts: { kind: 'person.letIn', people: ({ people }) => people },
    },
  }),
  'waiting.refuse': act({
    summary: 'Turn away somebody who waits before a room. They can ask again after a minute.',
    input: z.strictObject({ room_id: roomId, user_id: userId }),
    output: outcome,
    access: operator('rooms:write'),
    event: {
      room: ({ room_id }) => room_id,
      acts: { kind: 'person.turnedAway', people: ({ people }) => people },
    },
  }),
  'waiting.message': act({
    summary: 'Show a text to somebody who waits before a room; without user_id, to everybody.',
    input: z.strictObject({ room_id: roomId, user_id: userId.optional(), text: z.string().trim().min(1).max(500) }),
    output: z.strictObject({
      /** Number of people to whose page the text was sent. */
      reached: z.int(),
    }),
    access: operator('rooms:write'),
    // The text is not recorded, because it is intended only for the guest.
    event: {
      subjects: ({ room_id }) => [subject.room(room_id)],
      facts: (_, { reached }) => ({ reached }),
    },
  }),
}
