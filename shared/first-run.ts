import { z } from 'zod'
import { limits } from './limits.ts'

/** Purposes of a site; empty: not chosen. */
export const firstRunPurposes = ['', 'try', 'site', 'lab'] as const
export type FirstRunPurpose = (typeof firstRunPurposes)[number]

export const firstRunSteps = ['purpose', 'network', 'certificate', 'api', 'room', 'camera', 'done'] as const
export type FirstRunStep = (typeof firstRunSteps)[number]

/** Steps for each purpose, in order. The step `api` can also be reached from the last step of every purpose. */
export const stepsOfPurpose: Readonly<Record<FirstRunPurpose, readonly FirstRunStep[]>> = {
  '': ['purpose', 'room', 'camera', 'done'],
  try: ['purpose', 'room', 'camera', 'done'],
  site: ['purpose', 'network', 'certificate', 'room', 'camera', 'done'],
  lab: ['purpose', 'api', 'room', 'camera', 'done'],
}

/** State of the first run, stored with the settings. */
export const firstRunSchema = z.strictObject({
  purpose: z.enum(firstRunPurposes).default(''),
  step: z.enum(firstRunSteps).default('purpose'),
  /** Room created by the first run; empty: none. `user_id`: camera added last. Both may have been deleted since. */
  room_id: z.string().max(limits.roomExtendId).default(''),
  user_id: z.string().max(limits.userId).default(''),
})
export type FirstRun = z.output<typeof firstRunSchema>
