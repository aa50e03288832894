import type { EventSink } from '../event-log/event-log.ts'
import { recordNotice } from '../event-log/watch-site.ts'
import type { SiteMember } from '../store/election/site-member.ts'

/** Records each loss that a controller finds in the event log at once: it may be the only one that knows of it, and may never lead. */
export function recordLosses(member: Pick<SiteMember, 'onLost'>, events: EventSink): () => void {
  return member.onLost((notice) => {
    if (notice.logged === true) return
    recordNotice(events, notice)
    notice.logged = true
  })
}
