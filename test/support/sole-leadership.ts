import { soleLeadership } from '../../server/store/leadership.ts'

/** Leadership of a site that no other controller can lead, for parts that are tested without a store. */
export const sole = soleLeadership({ get: () => undefined, all: () => new Map() })
