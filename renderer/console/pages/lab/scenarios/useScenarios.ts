import { computed } from 'vue'
import type { ScenarioPreview } from '../../../../../shared/console/scenarios.ts'
import { useConsole } from '../../../composables/useConsole.ts'
import { ask, refusalText, useFeedback } from '../../../composables/useFeedback.ts'
import { useText } from '../../../i18n/text.ts'
import { useReading } from '../../../live/useReading.ts'
import type { WordedText } from '../../../../../shared/domain/worded-text.ts'

/** Effects of a scenario on the site, in the order of the question before it starts. */
const effectKinds = [
  ...(['credentials', 'nodes', 'cameras', 'people', 'rooms'] as const),
  ...(['settings', 'licence', 'faults', 'disk'] as const),
]

/** Bundled scenarios, the run on this site, and its start. */
export function useScenarios() {
  const client = useConsole()
  const { t } = useText()
  const worded = useWorded()
  const { warn } = useFeedback()
  const state = useReading('scenarios.list')
  const isRunning = computed(() => {
    const now = state.value.value?.run?.state
    return now === 'running' || now === 'paused' || now === 'restoring'
  })

  /** Returns what a scenario does to the site, one line each. */
  function effectLines({ effects }: ScenarioPreview): string[] {
    return effectKinds
      .map((kind) => ({ kind, effect: effects[kind] }))
      .filter(({ effect }) => (Array.isArray(effect) ? effect.length > 0 : effect))
      .map(({ kind, effect }) =>
        t(`lab.scenarios.effects.${kind}`, { names: Array.isArray(effect) ? effect.join(', ') : '' }),
      )
  }

  /** Starts a scenario after a question that says what it does to the site. @param pace factor; 0: without pauses */
  async function start(text: string, pace: number): Promise<void> {
    const { problems, hindrances, preview } = await client.call('scenarios.check', { text })
    const [problem = ''] = [...hindrances.map((one) => refusalText(one, t)), ...problems]
    if (preview === null || problem !== '') {
      warn(t('lab.scenarios.unfit', { problem }))
      return
    }
    const yes = await ask({
      title: t('lab.scenarios.askTitle', { title: worded(preview.title) }),
      body: t('lab.scenarios.askBody', { n: preview.steps }),
      losses: effectLines(preview),
      action: t('lab.scenarios.run'),
    })
    if (!yes) return
    await client.call('scenarios.start', { text, pace })
    await state.refresh()
  }

  return { state, isRunning, start }
}

/** Returns a function that returns a text of a scenario in the language of the console, or in English. */
export function useWorded(): (text: WordedText) => string {
  const { language } = useText()
  return (text) => (typeof text === 'string' ? text : (text[language.value] ?? text.en))
}
