import type { TesterOperation } from '../../../../shared/console/tester.ts'
import { utf8Length, wholeNumberText } from '../../../../shared/operation.ts'
import { type TextKey, type Translate, useText } from '../../i18n/text.ts'
import tester from '../../../../texts/en/console/tester.json'

export type Parameter = TesterOperation['parameters'][number]

type ControlKind = 'text' | 'number' | 'json' | 'choice'

/** Returns the control for a parameter's JSON Schema: a whole number, a choice, an object as JSON, or a text. */
export function controlKind({ name, schema }: Pick<Parameter, 'name' | 'schema'>): ControlKind {
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (choicesOf({ schema }).length > 0) return 'choice'
  const isObject = (one: unknown): boolean =>
    typeof one === 'object' && one !== null && Reflect.get(one, 'type') === 'object'
  if (schema.type === 'object' || (Array.isArray(schema.anyOf) && schema.anyOf.some(isObject))) return 'json'
  // get_mcu accepts its options only as JSON text.
  return name === 'options' ? 'json' : 'text'
}

/** Lists the permitted values of a parameter; empty: any. */
export function choicesOf({ schema }: Pick<Parameter, 'schema'>): string[] {
  return Array.isArray(schema.enum) ? schema.enum.filter((one) => typeof one === 'string') : []
}

/** Describes the rule of a parameter; empty: none. */
function ruleText(parameter: Parameter, t: Translate): string {
  const range = wholeRange(parameter)
  if (range) return t('tester.from', { from: range.least, to: range.most })
  const most = maxLength(parameter)
  return most === undefined ? '' : t('tester.upTo', { limit: most })
}

/** Returns the API's objection to a value, translated; empty: valid. An empty optional parameter is not sent. */
export function valueProblem(parameter: Parameter, value: string, t: Translate): string {
  if (value === '') return parameter.required ? t('complaints.missing') : ''
  const choices = choicesOf(parameter)
  if (choices.length > 0 && !choices.includes(value)) return t('complaints.type')
  const range = wholeRange(parameter)
  if (range) {
    const fits = wholeNumberText(range.most).test(value) && Number(value) >= range.least && Number(value) <= range.most
    return fits ? '' : t('complaints.wholeNumber', { min: range.least, max: range.most })
  }
  const most = maxLength(parameter)
  if (most !== undefined && utf8Length(value) > most) return t('complaints.maxBytes', { max: most })
  return controlKind(parameter) === 'json' ? jsonProblem(value, t) : ''
}

function wholeRange({ schema }: Parameter): { least: number; most: number } | undefined {
  const { type, minimum, maximum } = schema
  if (type !== 'integer' || typeof minimum !== 'number' || typeof maximum !== 'number') return undefined
  return { least: minimum, most: maximum }
}

/**
 * Returns the maximum length of a text: in bytes, which JSON Schema cannot express, from the description, else in
 * characters.
 */
function maxLength({ schema }: Parameter): number | undefined {
  const text = typeof schema.description === 'string' ? schema.description : ''
  const bytes = /(?:to|at most) (\d+) bytes/i.exec(text)?.[1]
  if (bytes !== undefined) return Number(bytes)
  return typeof schema.maxLength === 'number' ? schema.maxLength : undefined
}

function jsonProblem(value: string, t: Translate): string {
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? '' : t('tester.notObject')
  } catch {
    return t('tester.badJson')
  }
}

/** Describes a parameter and its rule. */
export function useParameterHint(): (parameter: Parameter) => string {
  const { t } = useText()
  return (parameter) => {
    const about = Object.hasOwn(tester.hints, parameter.name) ? t(`tester.hints.${parameter.name}` as TextKey) : ''
    return [about, ruleText(parameter, t)].filter((text) => text !== '').join(' ')
  }
}

/** Returns a function that describes an operation. An unknown operation keeps its English description. */
export function useSummary(): (operation: TesterOperation) => string {
  const { t } = useText()
  return ({ name, summary }) =>
    Object.hasOwn(tester.summaries, name) ? t(`tester.summaries.${name}` as TextKey) : summary
}
