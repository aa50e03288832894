import { computed, type ComputedRef, inject, type InjectionKey, provide, type Ref, ref, type ShallowRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { FirstRunView } from '../../../../shared/console/first-run.ts'
import { type FirstRunPurpose, type FirstRunStep, firstRunSteps, stepsOfPurpose } from '../../../../shared/first-run.ts'
import { fill, type Values } from '../../../../shared/refusals/template.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useOverview } from '../../composables/site.ts'
import type { PageTexts } from '../../i18n/languages.ts'
import { useLoadedTexts } from '../../i18n/useLoadedTexts.ts'
import { useReading } from '../../live/useReading.ts'

/** State and navigation of the first run, for its steps. */
interface FirstRun {
  /** Texts of the steps. */
  w: ComputedRef<PageTexts['welcome']>
  /** Fills in the placeholders of a text. */
  words: (text: string, values: Values) => string
  run: ShallowRef<FirstRunView | undefined>
  refresh: () => Promise<void>
  /** Purpose that is chosen but not saved; null: none. */
  chosen: Ref<FirstRunPurpose | null>
  /** Steps of the chosen purpose, in order. */
  steps: ComputedRef<readonly FirstRunStep[]>
  step: ComputedRef<FirstRunStep>
  /** Saves a step as the current one, and opens it. */
  go: (step: FirstRunStep) => Promise<void>
  next: () => Promise<void>
  back: () => Promise<void>
  following: ComputedRef<FirstRunStep>
}

const key: InjectionKey<FirstRun> = Symbol('first run')

/** Returns the first run that the surrounding page provides. */
export function useFirstRun(): FirstRun {
  const found = inject(key)
  if (found === undefined) throw new Error('there is no first run around')
  return found
}

function isStep(text: string | undefined): text is FirstRunStep {
  return firstRunSteps.some((one) => one === text)
}

/** Provides the first run for its steps. The address names the step; without one, the saved step is opened. */
export function provideFirstRun(): {
  texts: Readonly<ShallowRef<PageTexts['welcome'] | undefined>>
  run: ShallowRef<FirstRunView | undefined>
  error: Ref<unknown>
  refresh: () => Promise<void>
  step: ComputedRef<FirstRunStep>
  steps: ComputedRef<readonly FirstRunStep[]>
  back: () => Promise<void>
  leave: () => Promise<void>
} {
  const client = useConsole()
  const route = useRoute()
  const router = useRouter()
  const { attempt } = useFeedback()
  const { value: overview, refresh: readOverview } = useOverview()
  const texts = useLoadedTexts('welcome')
  const { value: run, error, refresh } = useReading('first_run.get')
  const moving = ref(false)

  const chosen = ref<FirstRunPurpose | null>(null)
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

  const w = computed(() => {
    if (texts.value === undefined) throw new Error('the texts are not loaded')
    return texts.value
  })
  provide(key, { w, words: fill, run, refresh, chosen, steps, step, go, next, back, following })
  return { texts, run, error, refresh, step, steps, back, leave }
}
