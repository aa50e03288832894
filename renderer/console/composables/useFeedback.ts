import { type Ref, shallowRef } from 'vue'
import { type Translate, useText } from '../i18n/text.ts'
import { CallError, neededSecret } from '../../kit/transport/transport.ts'
import { showMessage } from '../../kit/messages/messages.ts'
import { FileNotWrittenError, NotSavedError } from '../../kit/composables/saveFile.ts'
import type { z } from 'zod'
import { complaintOfIssue } from '../../../shared/domain/input-problems.ts'
import type { FieldProblem } from '../../../shared/domain/outcome.ts'
import type { ComplaintName } from '../../../shared/refusals/complaints.ts'
import type { RefusalName } from '../../../shared/refusals/refusal.ts'
import type { Values } from '../../../shared/refusals/template.ts'
import complaints from '../../../texts/en/console/complaints.json'
import refusals from '../../../texts/en/console/refusals.json'

/** A question before an action that loses something. */
interface Question {
  title: string
  body: string
  /** Losses, one line each. */
  losses?: readonly string[]
  /** Facts to show, newest first. */
  facts?: { title: string; lines: readonly string[] }
  /** An additional choice. */
  option?: { label: string; chosen: Ref<boolean> }
  /** Label of the button that confirms. */
  action: string
  /** Label of the other button; undefined: Cancel. */
  refusal?: string
  /** Number of items lost permanently: the operator has to type it to enable the button. */
  typed?: number
  /** The action is harmless: the button has no warning colour. */
  harmless?: boolean
}

interface Asked extends Question {
  answer(yes: boolean): void
}

/** The current question, shown by ConfirmHost. */
export const asked = shallowRef<Asked | null>(null)

/** Resolves to true if the operator confirms. */
export function ask(question: Question): Promise<boolean> {
  asked.value?.answer(false)
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer(yes) {
        asked.value = null
        resolve(yes)
      },
    }
  })
}

/** Messages and questions for the operator. */
export function useFeedback() {
  const { t } = useText()

  /**
   * Returns the message of a failure in the operator's language.
   * @param of what failed; after a change the message says that it may be done
   */
  function errorText(error: unknown, of: 'read' | 'change' = 'change'): string {
    if (error instanceof FileNotWrittenError) return t('errors.file')
    if (!(error instanceof CallError)) return t('errors.unknown')
    if (error.code === 'offline') return t('errors.offline')
    if (error.code === 'timeout') return t(of === 'read' ? 'errors.readTimeout' : 'errors.timeout')
    const needed = neededSecret(error.refusal)
    if (needed !== undefined) return t(needed === 'key' ? 'accounts.confirm.keyNeeded' : 'accounts.confirm.needed')
    const [problem] = error.problems
    if (problem !== undefined && (error.refusal === '' || error.refusal === 'inputInvalid'))
      return `${problem.path}: ${problemText(problem, t)}`
    return refusalText({ message: error.message, name: error.refusal, values: error.values }, t)
  }

  const tell = (text: string): void => {
    showMessage({ text, tone: 'ok', duration: 2_500 })
  }
  const warn = (text: string): void => {
    showMessage({ text, tone: 'warn', duration: 6_000, closable: true })
  }
  /** Warns if an action on several objects was refused for some, with the reason of the first. Returns whether it was. */
  function warnFailed({ done, failed }: { done: number; failed: readonly ArrivedRefusal[] }): boolean {
    const [first] = failed
    if (first === undefined) return false
    warn(t('bulk.failed', { done, failed: failed.length, message: refusalText(first, t) }))
    return true
  }
  const fail = (error: unknown): void => {
    showMessage({ text: errorText(error), tone: 'bad', duration: 8_000, closable: true })
  }

  /**
   * Runs an action and reports success or failure. Resolves to its value; undefined if it failed, or the operator
   * cancelled.
   */
  async function attempt<T>(run: () => Promise<T>, told?: string | ((value: T) => string)): Promise<T | undefined> {
    try {
      const value = await run()
      if (told !== undefined) tell(typeof told === 'function' ? told(value) : told)
      return value
    } catch (error) {
      if (!(error instanceof NotSavedError)) fail(error)
      return undefined
    }
  }

  async function copy(text: string): Promise<void> {
    if (await copyText(text)) tell(t('words.copied'))
    else warn(t('errors.copy'))
  }

  return { errorText, tell, warn, warnFailed, fail, ask, attempt, copy }
}

/**
 * Copies a text to the clipboard. A page over plain HTTP from another host has no clipboard API and copies a selection.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'hidden-text'
    document.body.append(area)
    area.select()
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies on an insecure origin, where a headless console is often read
    const copied = document.execCommand('copy')
    area.remove()
    return copied
  }
}

/** A refusal as received: an older controller omits the name, and a newer one may use unknown names. */
interface ArrivedRefusal {
  message: string
  name?: string | undefined
  values?: Values | undefined
}

const isRefusal = (name: string): name is RefusalName => Object.hasOwn(refusals, name)
const isComplaint = (name: string): name is ComplaintName => Object.hasOwn(complaints, name)

/** Returns a refusal in the operator's language; an unknown one keeps the controller's message. */
export function refusalText({ message, name = '', values = {} }: ArrivedRefusal, t: Translate): string {
  if (name === 'roleMissing' && values.role === 'admin') return t('errors.adminOnly')
  if (name === 'roleMissing' && values.role === 'operator') return t('errors.operatorOnly')
  return isRefusal(name) ? t(`refusals.${name}`, worded(values, t)) : message
}

/** Returns a problem of a field in the operator's language, to be shown beside the field. */
export function problemText(problem: Omit<FieldProblem, 'path'>, t: Translate): string {
  const { name = '', values = {} } = problem
  return isComplaint(name) ? t(`complaints.${name}`, { ...values }) : refusalText(problem, t)
}

/** Returns a schema issue of a field in the operator's language. @param value value of the field */
export function issueText(issue: z.core.$ZodIssue, value: unknown, t: Translate): string {
  if (value === undefined || value === null || value === '') return t('complaints.missing')
  return problemText(complaintOfIssue(issue, value), t)
}

/** Replaces the name of a role in the values by its text in the operator's language. */
function worded(values: Values, t: Translate): Record<string, string | number> {
  const { role } = values
  if (role !== 'viewer' && role !== 'operator' && role !== 'admin') return { ...values }
  return { ...values, role: t(`accounts.roles.${role}`) }
}
