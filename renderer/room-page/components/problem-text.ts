import type { DeviceInput } from '../local/device-input.ts'
import type { Texts } from '../texts/languages.ts'

/** Describes a problem of a microphone or camera and the remedy; empty: no problem. */
export function problemText({ kind, problem }: Pick<DeviceInput, 'kind' | 'problem'>, texts: Texts): string {
  if (problem === null) return ''
  if (problem === 'insecure') return texts.problems.insecure
  const key = `${kind === 'audio' ? 'mic' : 'cam'}${problem.charAt(0).toUpperCase()}${problem.slice(1)}`
  return isProblemKey(key, texts) ? texts.problems[key] : ''
}

function isProblemKey(key: string, texts: Texts): key is keyof Texts['problems'] {
  return Object.hasOwn(texts.problems, key)
}
