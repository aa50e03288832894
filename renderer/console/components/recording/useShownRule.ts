import { computed, shallowRef } from 'vue'
import type { RecordingRuleView } from '../../../../shared/console/recordings.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import type { RecordedThing } from '../../composables/useRecordings.ts'
import { useText } from '../../i18n/text.ts'

/** The rule shown in a dialog, loaded when the dialog opens. */
export function useShownRule() {
  const client = useConsole()
  const { t } = useText()
  const { attempt, warn } = useFeedback()
  const shown = shallowRef<{ thing: RecordedThing; view: RecordingRuleView } | null>(null)
  const open = computed({
    get: () => shown.value !== null,
    set(on: boolean) {
      if (!on) shown.value = null
    },
  })

  async function show(thing: RecordedThing): Promise<void> {
    const { roomId: room_id, userId } = thing
    const input = userId === undefined ? { room_id } : { room_id, user_id: userId }
    const view = await attempt(() => client.call('recordings.rule', input))
    if (view?.possible === false) warn(t('recording.impossible', { node: view.node }))
    else if (view !== undefined) shown.value = { thing, view }
  }

  return { shown, open, show }
}
