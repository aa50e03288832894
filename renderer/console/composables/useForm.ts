import { computed, nextTick, reactive, ref, watch } from 'vue'
import type { z } from 'zod'
import { useText } from '../i18n/text.ts'
import { CallError, plain } from '../../kit/transport/transport.ts'
import { issueText, problemText, useFeedback } from './useFeedback.ts'

/** Options of a form that validates like the controller. */
export interface FormOptions<V extends object, I, R> {
  /** The procedure's own input schema. */
  schema: z.ZodType<unknown, I>
  initial: () => V
  /** Makes the input from the form. */
  input: (values: V) => I
  submit: (input: I, values: V) => Promise<R>
  /** Returns the message after a successful submission. */
  told?: (result: R) => string
  /** Called with the result of a successful submission, after its message. */
  done?: (result: R) => void
}

/** Binds a field of a form: `<FormField v-bind="field('topic')">`. */
export type BindField = (path: string) => { problem: string; onFocusout: () => void }

/** Values, problems by dotted path of the input, and submission of one form. */
export function useForm<V extends object, I, R>(options: FormOptions<V, I, R>) {
  const { t } = useText()
  const { errorText, tell } = useFeedback()
  const values = reactive<V>(options.initial()) as V
  const clean = ref(JSON.stringify(values))
  /**
   * Input of the unchanged form; computed when needed, because `input` may use variables that the caller declares
   * later.
   */
  let untouched: I | undefined
  const touched = reactive(new Set<string>())
  const refused = reactive(new Map<string, string>())
  const submitted = ref(false)
  const busy = ref(false)
  /** Error that belongs to no field; empty: none. */
  const failure = ref('')

  const input = computed(() => options.input(values))
  const issues = computed(() => {
    const found = new Map<string, string>()
    const parsed = options.schema.safeParse(plain(input.value))
    for (const issue of parsed.error?.issues ?? []) {
      const path = issue.path.join('.')
      if (!found.has(path)) found.set(path, issueText(issue, at(input.value, issue.path), t))
    }
    return found
  })
  const dirty = computed(() => JSON.stringify(values) !== clean.value)

  watch(
    () => JSON.stringify(values),
    () => {
      refused.clear()
      failure.value = ''
    },
  )

  /** Returns the problem of a field that the operator has visited; empty: none. */
  function problem(path: string): string {
    const shows = submitted.value || (touched.has(path) && hasChanged(path))
    return refused.get(path) ?? (shows ? issues.value.get(path) : undefined) ?? ''
  }

  /** Returns whether the operator has changed a field: a field that was only passed by Tab shows no problem yet. */
  function hasChanged(path: string): boolean {
    const keys = path.split('.')
    untouched ??= options.input(options.initial())
    return JSON.stringify(at(input.value, keys)) !== JSON.stringify(at(untouched, keys))
  }

  function touch(path: string): void {
    touched.add(path)
  }

  /** Properties of the `FormField` of a path: its problem, which shows once the field was left. */
  const field: BindField = (path) => ({ problem: problem(path), onFocusout: () => touch(path) })

  function reset(): void {
    Object.assign(values, options.initial())
    untouched = undefined
    clean.value = JSON.stringify(values)
    touched.clear()
    refused.clear()
    submitted.value = false
    failure.value = ''
  }

  /** Treats the present values as unchanged: the form has filled them in itself. */
  function adopt(): void {
    clean.value = JSON.stringify(values)
  }

  async function submit(): Promise<boolean> {
    submitted.value = true
    const place = placeOfForm()
    if (busy.value || issues.value.size > 0) {
      await showFirstProblem(place)
      return false
    }
    busy.value = true
    failure.value = ''
    const sent = JSON.stringify(values)
    try {
      const result = await options.submit(input.value, values)
      clean.value = sent
      submitted.value = false
      if (options.told) tell(options.told(result))
      options.done?.(result)
      return true
    } catch (error) {
      await refuse(error, place)
      return false
    } finally {
      busy.value = false
    }
  }

  async function refuse(error: unknown, place: ParentNode): Promise<void> {
    const problems = error instanceof CallError ? error.problems : []
    for (const one of problems) refused.set(one.path, problemText(one, t))
    if (problems.length === 0 || problems.some((one) => one.path === '')) failure.value = errorText(error)
    if (await showFirstProblem(place)) return
    // The problem belongs to no field of this form.
    failure.value = errorText(error)
    await showFirstProblem(place)
  }

  return { values, problem, touch, field, submit, reset, adopt, busy, failure, dirty, issues }
}

function at(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

/** Returns the dialog or form that the operator submits. Call it first: a disabled button loses the focus. */
function placeOfForm(): ParentNode {
  return document.activeElement?.closest('dialog, form') ?? document
}

/**
 * Shows the first problem: focuses its field, or scrolls to the error of the form, which is announced as an alert.
 * @returns whether there is a problem
 */
async function showFirstProblem(place: ParentNode): Promise<boolean> {
  await nextTick()
  const field = place.querySelector('.field.is-invalid')
  if (field !== null) {
    const control = field.querySelector<HTMLElement>('input, textarea, [tabindex="0"]')
    // A field that has just been enabled accepts the focus only in the next frame.
    requestAnimationFrame(() => {
      control?.focus()
      // Focusing scrolls only to the control, not to the message below it.
      field.scrollIntoView({ block: 'nearest' })
    })
    return true
  }
  const alert = place.querySelector('.note-bar[role="alert"]')
  alert?.scrollIntoView({ block: 'nearest' })
  return alert !== null
}
