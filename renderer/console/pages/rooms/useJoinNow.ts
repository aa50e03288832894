import { listenerOf, useCaller, useOverview } from '../../composables/site.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'
import { roomPagePath } from '../../../../shared/media/room-page.ts'

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

/** Hosts of a listener that accepts connections at every address of its machine. */
const everywhere: ReadonlySet<string> = new Set(['0.0.0.0', '[::]'])

/**
 * Returns a join link with the host name of this console: at another host name, browsers would show a second
 * certificate warning.
 * @param link join link of the site
 * @param here address of the console's page
 * @param listeners URLs of the console's and the node's port; empty: not listening
 * @returns `link` unchanged if the console is behind a proxy, or the node does not listen at this host name
 */
export function joinAddress(
  link: string,
  here: Pick<URL, 'hostname' | 'port' | 'protocol'>,
  listeners: { console: string; node: string },
): string {
  if (!URL.canParse(listeners.console) || !URL.canParse(listeners.node)) return link
  const node = new URL(listeners.node)
  // A proxy forwards only the console.
  const isDirect = portOf(new URL(listeners.console)) === portOf(here)
  if (!isDirect || (!everywhere.has(node.hostname) && node.hostname !== here.hostname)) return link
  node.hostname = here.hostname
  const { search, hash } = new URL(link)
  return `${node.origin}${roomPagePath}${search}${hash}`
}

function portOf({ port, protocol }: Pick<URL, 'port' | 'protocol'>): string {
  return port !== '' ? port : protocol === 'https:' ? '443' : '80'
}

type Scheduled = Pick<RoomView, 'room_id' | 'topic' | 'people'>

/** Opens a scheduled room early, and ends its meeting. */
export function useMeetingActs() {
  const client = useConsole()
  const { t } = useText()
  const { ask, attempt } = useFeedback()

  /** Resolves to whether the room is open. */
  async function openNow({ room_id, topic }: Scheduled): Promise<boolean> {
    const agreed = await ask({
      title: t('schedule.openTitle', { room: topic }),
      body: t('schedule.openBody'),
      action: t('schedule.openNow'),
    })
    return agreed && (await attempt(() => client.call('rooms.open_now', { room_id }))) !== undefined
  }

  async function endNow({ room_id, topic, people }: Scheduled): Promise<void> {
    const agreed = await ask({
      title: t('schedule.endTitle', { room: topic }),
      body: t('schedule.endBody'),
      losses: people > 0 ? [t('rooms.ask.losePeople', { n: people })] : [],
      action: t('schedule.endNow'),
    })
    if (agreed) await attempt(() => client.call('rooms.end_now', { room_id }))
  }

  return { openNow, endNow }
}
