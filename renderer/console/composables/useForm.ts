import { computed, reactive, ref, watch } from 'vue'
import type { z } from 'zod'
import { useText } from '../i18n/text.ts'
import { CallError, plain } from '../../kit/transport/transport.ts'
import { issueText, sentence } from './problems.ts'
import { useFeedback } from './useFeedback.ts'

/** A form that validates like the controller. */
export interface FormOptions<V extends object, I, R> {
  /** The procedure's own input schema. */
  schema: z.ZodType<unknown, I>
  initial: () => V
  /** Makes the input from the form. */
  input: (values: V) => I
  submit: (input: I, values: V) => Promise<R>
  /** Called with the result of a successful submission. */
  done?: (result: R) => void
}

/** Values, problems by dotted path of the input, and submission of one form. */
export function useForm<V extends object, I, R>(options: FormOptions<V, I, R>) {
  const { t } = useText()
  const { errorText } = useFeedback()
  const values = reactive<V>(options.initial()) as V
  const clean = ref(JSON.stringify(values))
  const touched = reactive(new Set<string>())
  const refused = reactive(new Map<string, string>())
  const submitted = ref(false)
  const busy = ref(false)
  /** An error without a field. */
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

  /** Problem of a field that the operator has visited; empty: none. */
  function problem(path: string): string {
    const found = refused.get(path) ?? (submitted.value || touched.has(path) ? issues.value.get(path) : undefined)
    return found ?? ''
  }

  function touch(path: string): void {
    touched.add(path)
  }

  /** Resets to the initial values. */
  function reset(): void {
    Object.assign(values, options.initial())
    clean.value = JSON.stringify(values)
    touched.clear()
    refused.clear()
    submitted.value = false
    failure.value = ''
  }

  async function submit(): Promise<boolean> {
    submitted.value = true
    if (busy.value || issues.value.size > 0) {
      focusFirstProblem()
      return false
    }
    busy.value = true
    failure.value = ''
    const sent = JSON.stringify(values)
    try {
      const result = await options.submit(input.value, values)
      clean.value = sent
      submitted.value = false
      options.done?.(result)
      return true
    } catch (error) {
      refuse(error)
      return false
    } finally {
      busy.value = false
    }
  }

  function refuse(error: unknown): void {
    const problems = error instanceof CallError ? error.problems : []
    for (const one of problems) refused.set(one.path, sentence(one.message, undefined, t))
    if (problems.length === 0 || problems.some((one) => one.path === '')) failure.value = errorText(error)
    focusFirstProblem()
  }

  return { values, problem, touch, submit, reset, busy, failure, dirty, issues }
}

function at(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function focusFirstProblem(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector('.field.is-invalid')
    field?.querySelector<HTMLElement>('input, textarea, [tabindex="0"]')?.focus()
  })
}
