import { ref, watch } from 'vue'
import type { OrderedLive, OrderedRecording } from '../../../../shared/console/orders.ts'
import { menuItems, type MenuItem } from '../../../kit/menu/menu-items.ts'
import { usePagedRows } from '../../../kit/composables/usePagedRows.ts'
import { useCaller } from '../../composables/site.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'
import { useRefresh } from '../../live/useRefresh.ts'
import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import { limits } from '../../../../shared/limits.ts'

export type Order = OrderedRecording | OrderedLive
type OrderKind = 'recordings' | 'lives'

export function isLive(order: Order): order is OrderedLive {
  return 'page_url' in order
}

/** Whether an order is recording or streaming, or will start when its user sends media. */
export function isRunning({ ended_at, state }: Order): boolean {
  return ended_at === 0 && state !== 'failed'
}

/** Returns the name of an order: its own, else that of the recorded user or camera. */
export function useOrderText() {
  const { t } = useText()
  const targetOf = ({ user_id, user_name }: Order): string =>
    user_id === '' ? t('playback.ordered.wholeRoom') : user_name || user_id
  return {
    targetOf,
    nameOf: (order: Order): string => order.name || targetOf(order),
  }
}

/** Client recordings or live streams, newest first, and the operator's actions on them. */
export function useOrders() {
  const client = useConsole()
  const kind = ref<OrderKind>('recordings')
  const rows = usePagedRows<Order>((offset, limit) => client.call(`orders.${kind.value}`, { offset, limit }))
  // Live streams change with the same event.
  useRefresh('orders.recordings', () => rows.refresh())
  watch(kind, () => void rows.restart(), { immediate: true })
  return { kind, rows, ...useOrderActs(rows.refresh) }
}

/**
 * Actions on client recordings and live streams.
 * @param refresh reloads the list after each action
 */
export function useOrderActs(refresh: () => Promise<void>) {
  const client = useConsole()
  const { t } = useText()
  const { may } = useCaller()
  const { ask, attempt, copy } = useFeedback()
  const { nameOf } = useOrderText()

  function acts(order: Order): MenuItem[] {
    const live = isLive(order)
    const runs = isRunning(order)
    const files = live ? [] : order.files
    const n = files.length
    const revoked = files.some(({ url }) => url === '')
    const stops = runs && may(live ? 'orders.stop_live' : 'orders.stop_recording')
    const deletes = may(live ? 'orders.delete_live' : 'orders.delete_recording')
    return menuItems(
      live && runs && { key: 'copyPage', text: t('playback.ordered.copyPage'), icon: 'link' },
      live && runs && { key: 'copyPlaylist', text: t('playback.ordered.copyPlaylist'), icon: 'copy' },
      revoked &&
        may('orders.renew_recording') && { key: 'renew', text: t('playback.ordered.renew', { n }), icon: 'rotate' },
      n > 0 && !revoked && { key: 'copyFile', text: t('playback.ordered.copyFile', { n }), icon: 'link' },
      stops && { key: 'stop', text: t('playback.ordered.stop'), icon: 'stopRecording' },
      deletes && { key: 'delete', text: t('playback.ordered.delete'), icon: 'trash', danger: true, divided: true },
    )
  }

  async function end(order: Order, does: 'stop' | 'delete'): Promise<void> {
    const { id } = order
    const [name, live] = [nameOf(order), isLive(order)]
    const yes = await ask({
      title: t(`playback.ordered.ask.${does}Title`, { name }),
      body: t(`playback.ordered.ask.${does}${live ? 'Live' : 'Recording'}`),
      action: t(`playback.ordered.${does}`),
    })
    if (!yes) return
    await attempt<object>(
      () => client.call(`orders.${does}_${live ? 'live' : 'recording'}`, { id }),
      t(does === 'stop' ? 'playback.ordered.stopped' : 'playback.ordered.deleted', { name }),
    )
    await refresh()
  }

  /** Creates new addresses of files whose previous addresses were revoked with their maker. */
  async function renew(order: Order): Promise<void> {
    await attempt(
      () => client.call('orders.renew_recording', { id: order.id }),
      t('playback.ordered.renewed', { name: nameOf(order) }),
    )
    await refresh()
  }

  async function run(key: string, order: Order): Promise<void> {
    if (key === 'renew') await renew(order)
    else if (key === 'stop' || key === 'delete') await end(order, key)
    else await copy(addressOf(key, order))
  }

  return { acts, run }
}

/** Returns the text that an action copies; several addresses are separate lines. */
function addressOf(key: string, order: Order): string {
  if (!isLive(order)) return order.files.map(({ url }) => url).join('\n')
  return key === 'copyPage' ? order.page_url : order.hls_url
}

/** A user or camera of a room; without `userId`, everybody in it. */
export interface OrderTarget {
  roomId: string
  userId?: string | undefined
  name: string
}

type StreamInput = ProcedureInput<'orders.stream'>

/** Starts client recordings and live streams. */
export function useStartOrder() {
  const client = useConsole()
  const { t } = useText()
  const { attempt, tell } = useFeedback()

  async function record({ roomId, userId, name }: OrderTarget): Promise<void> {
    const whom = { room_id: roomId, ...(userId === undefined ? {} : { user_id: userId, name: labelOf(name) }) }
    await attempt(() => client.call('orders.record', whom), t('playback.ordered.recordStarted', { name }))
  }

  /** Starts a live stream. @throws CallError if the controller refuses it */
  async function stream(input: StreamInput, name: string): Promise<void> {
    await client.call('orders.stream', input)
    tell(t('playback.ordered.streamStarted', { name }))
  }

  return { record, stream }
}

/** Returns the input of a new live stream. @param address RTMP server that receives the stream; empty: none */
export function streamInput({ roomId, userId = '', name }: OrderTarget, address: string): StreamInput {
  const whom = { room_id: roomId, user_id: userId, name: labelOf(name) }
  return address === '' ? whom : { ...whom, publish_url: address }
}

/** Returns the name of a user or camera as the label of an order; empty if it is too long. */
function labelOf(name: string): string {
  return new TextEncoder().encode(name).length > limits.recordingName ? '' : name
}
