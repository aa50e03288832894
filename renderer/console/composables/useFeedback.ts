import { type Ref, shallowRef } from 'vue'
import { useText } from '../i18n/text.ts'
import { CallError, neededSecret } from '../../kit/transport/transport.ts'
import { problemText, refusalText } from './refusalText.ts'
import { showMessage } from '../../kit/messages/messages.ts'
import { FileNotWrittenError, NotSavedError } from '../../kit/composables/saveFile.ts'

/** A question before an action that loses something. */
export interface Question {
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

  /** Returns the message of a failure in the operator's language. */
  function errorText(error: unknown): string {
    if (error instanceof FileNotWrittenError) return t('errors.file')
    if (!(error instanceof CallError)) return t('errors.unknown')
    if (error.code === 'offline') return t('errors.offline')
    if (error.code === 'timeout') return t('errors.timeout')
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

  return { errorText, tell, warn, fail, ask, attempt, copy }
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
