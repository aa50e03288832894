import { useCaller } from '../../composables/useCaller.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { listenerOf, useOverview } from '../../composables/site.ts'
import { useText } from '../../i18n/text.ts'
import { joinAddress } from './joinAddress.ts'
import { useMeetingActs } from './useMeetingActs.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'

/** Opens the page of a room in a new tab, with the operator as host. */
export function useJoinNow() {
  const client = useConsole()
  const { may } = useCaller()
  const { t } = useText()
  const { fail, warn } = useFeedback()
  const { openNow } = useMeetingActs()
  const { value: overview } = useOverview()
  const at = (name: 'console' | 'node'): string => (overview.value && listenerOf(overview.value, name)?.url) ?? ''

  /** Returns whether the caller may join this room. A closed room, or one after its last meeting, cannot be joined. */
  function mayJoin({ status, schedule, meeting }: Pick<RoomView, 'status' | 'schedule' | 'meeting'>): boolean {
    const isOver = schedule !== null && meeting === null
    return status !== 'closed' && !isOver && may('media.join_now')
  }

  /** Returns whether the caller may create join links for this room. */
  function mayInvite({ status }: Pick<RoomView, 'status'>): boolean {
    return status !== 'closed' && may('media.join_link')
  }

  /** Joins the room. Opens a scheduled room before its time if the operator agrees. Call it from a click handler. */
  async function joinNow(room: RoomView): Promise<void> {
    if (room.meeting === null || room.meeting.open || (await openNow(room))) await openPage(room.room_id)
  }

  /** Call it from a click handler, before any await. */
  async function openPage(room_id: string): Promise<void> {
    // The desktop app opens the link in the operator's browser, and has no tabs.
    const tab = client.kind === 'ipc' ? undefined : openTab(t('rooms.joinNow.opening'))
    if (tab === null) {
      warn(t('rooms.joinNow.blocked'))
      return
    }
    try {
      const { url: link } = await client.call('media.join_now', { room_id })
      const url =
        client.kind === 'ipc' ? link : joinAddress(link, location, { console: at('console'), node: at('node') })
      if (tab === undefined) window.open(url)
      else tab.location.replace(url)
    } catch (error) {
      tab?.close()
      fail(error)
    }
  }

  return { mayJoin, mayInvite, joinNow }
}

/** Opens an empty tab before the answer arrives, because browsers block later tabs; null if the browser refuses. */
function openTab(title: string): Window | null {
  const tab = window.open('about:blank', '_blank')
  if (tab === null) return null
  // The room page must not have access to the console.
  tab.opener = null
  tab.document.title = title
  return tab
}
