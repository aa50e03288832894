import { createInjectionState } from '@vueuse/core'
import { computed, ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { type FirstRunPurpose, type FirstRunStep, firstRunSteps, stepsOfPurpose } from '../../../../shared/first-run.ts'
import { fill } from '../../../../shared/refusals/template.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useOverview } from '../../composables/site.ts'
import { useLoadedTexts } from '../../i18n/useLoadedTexts.ts'
import { useReading } from '../../live/useReading.ts'

function isStep(text: string | undefined): text is FirstRunStep {
  return firstRunSteps.some((one) => one === text)
}

/** Provides the first run for its steps. The address names the step; without one, the saved step is opened. */
const [provideFirstRun, injectFirstRun] = createInjectionState(() => {
  const client = useConsole()
  const route = useRoute()
  const router = useRouter()
  const { attempt } = useFeedback()
  const { value: overview, refresh: readOverview } = useOverview()
  const texts = useLoadedTexts('welcome')
  const { value: run, error, refresh } = useReading('first_run.get')
  const moving = ref(false)
  /** Purpose that is chosen but not saved; null: none. */
  const chosen = ref<FirstRunPurpose | null>(null)
  /** Steps of the chosen purpose, in order. */
  const steps = computed(() => stepsOfPurpose[chosen.value ?? run.value?.purpose ?? ''])
  const step = computed<FirstRunStep>(() => {
    const named = route.path.split('/')[2]
    return isStep(named) ? named : (run.value?.step ?? 'purpose')
  })
  /** The step for API clients precedes the last one if the purpose does not include it. */
  const neighbour = (by: 1 | -1): FirstRunStep => {
    const at = steps.value.indexOf(step.value)
    if (at < 0) return by > 0 || step.value === 'api' ? 'done' : 'purpose'
    return steps.value[Math.min(Math.max(at + by, 0), steps.value.length - 1)] ?? 'done'
  }
  const following = computed(() => neighbour(1))

  /** Saves a step as the current one, and opens it. */
  async function go(to: FirstRunStep): Promise<void> {
    if (moving.value) return
    moving.value = true
    try {
      await attempt(() => client.call('first_run.save', { step: to }))
      await refresh()
      await router.push(`/welcome/${to}`)
    } finally {
      moving.value = false
    }
  }

  const next = (): Promise<void> => go(following.value)
  const back = async (): Promise<void> => {
    if (step.value !== 'purpose') await go(neighbour(-1))
  }

  async function leave(): Promise<void> {
    await attempt(() => client.call('overview.dismiss_welcome'))
    await readOverview()
    // Also after a failed call, so that the overview does not return the operator to this page.
    if (overview.value) overview.value = { ...overview.value, fresh: false }
    await router.replace('/overview')
  }

  /** Texts of the steps, which are rendered when these are loaded. */
  const w = computed(() => {
    if (texts.value === undefined) throw new Error('the texts are not loaded')
    return texts.value
  })
  return { texts, w, words: fill, run, error, refresh, chosen, steps, step, following, go, next, back, leave }
})

export { provideFirstRun }

/** Returns the first run that the surrounding page provides. */
export function useFirstRun() {
  const found = injectFirstRun()
  if (found === undefined) throw new Error('there is no first run around')
  return found
}
