import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'

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
