import type { RoomView } from '../../../../shared/console/rooms.ts'
import { useCaller } from '../../composables/useCaller.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'

/** Opens the page of a room in a new tab, where the operator is host. */
export function useJoinNow() {
  const client = useConsole()
  const { may } = useCaller()
  const { t } = useText()
  const { fail, warn } = useFeedback()

  /** Tells whether the caller may join this room. Nobody joins a closed one. */
  function mayJoin({ status }: Pick<RoomView, 'status'>): boolean {
    return status !== 'closed' && may('media.join_now')
  }

  /** Tells whether the caller may make join links for this room. */
  function mayInvite({ status }: Pick<RoomView, 'status'>): boolean {
    return status !== 'closed' && may('media.join_link')
  }

  /** Called by the handler of a click, before anything else is awaited. */
  async function joinNow(room_id: string): Promise<void> {
    // The desktop app hands the link to the operator's browser, and has no tabs.
    const tab = client.kind === 'ipc' ? undefined : openTab(t('rooms.joinNow.opening'))
    if (tab === null) {
      warn(t('rooms.joinNow.blocked'))
      return
    }
    try {
      const { url } = await client.call('media.join_now', { room_id })
      if (tab === undefined) window.open(url)
      else tab.location.replace(url)
    } catch (error) {
      tab?.close()
      fail(error)
    }
  }

  return { mayJoin, mayInvite, joinNow }
}

/** Opens an empty tab at once, because browsers block one that opens after an answer; null if the browser refuses. */
function openTab(title: string): Window | null {
  const tab = window.open('about:blank', '_blank')
  if (tab === null) return null
  // The room page must not reach the console.
  tab.opener = null
  tab.document.title = title
  return tab
}
