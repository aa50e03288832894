import { z } from 'zod'
import { testPeopleSpecSchema, testPeopleStateSchema } from '../media/test-people.ts'

/** A group of test people with its current state. */
export const testPeopleView = testPeopleSpecSchema.extend({
  ...testPeopleStateSchema.shape,
  /** Ids of the rooms that the people join. */
  in_rooms: z.array(z.string()),
  /** Whether the program of an embedded node runs the group. */
  runs: z.boolean(),
})
export type TestPeopleView = z.output<typeof testPeopleView>
