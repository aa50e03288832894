import { computed } from 'vue'
import { useText } from '../i18n/text.ts'
import { useReading } from '../live/useReading.ts'
import { sharedState, useConsole } from './useConsole.ts'
import { useFeedback } from './useFeedback.ts'
import type { WaitingGuest } from '../../../shared/domain/waiting.ts'

/** Users who wait for admission to a room, in order of arrival. */
export const useWaiting = sharedState(() => {
  const live = useReading('waiting.list', {}, { updates: { 'waiting.changed': (_before, view) => view } })
  return {
    guests: computed<readonly WaitingGuest[]>(() => live.value.value?.items ?? []),
    /** Number of waiting users; `guests` contains at most the first 500. */
    total: computed(() => live.value.value?.total ?? 0),
  }
})

/** Actions on waiting users. */
export function useWaitingActs() {
  const client = useConsole()
  const { t } = useText()
  const { ask, attempt, warn } = useFeedback()

  /** Admits one guest, or everybody who waits for a room. */
  async function admit(room_id: string, guest?: WaitingGuest): Promise<void> {
    const outcome = await attempt(
      () => client.call('waiting.admit', guest === undefined ? { room_id } : { room_id, user_id: guest.user_id }),
      ({ people }) => t('waiting.admitted', { n: people.length, name: people[0]?.user_name ?? '' }),
    )
    if (outcome?.refusal) warn(t(`waiting.refusals.${outcome.refusal}`))
  }

  async function refuse({ room_id, topic, user_id, user_name: name }: WaitingGuest): Promise<void> {
    const yes = await ask({
      title: t('waiting.refuseTitle', { name }),
      body: t('waiting.refuseBody', { room: topic }),
      action: t('waiting.refuse'),
    })
    if (!yes) return
    await attempt(() => client.call('waiting.refuse', { room_id, user_id }), t('waiting.refused', { name }))
  }

  return { admit, refuse }
}
