import tester from '../../../../texts/en/console/tester.json'
import { type TextKey, useText } from '../../i18n/text.ts'
import { type Parameter, ruleText } from './parameterRule.ts'

/** Describes a parameter and its rule. */
export function useParameterHint(): (parameter: Parameter) => string {
  const { t } = useText()
  return (parameter) => {
    const about = Object.hasOwn(tester.hints, parameter.name) ? t(`tester.hints.${parameter.name}` as TextKey) : ''
    return [about, ruleText(parameter, t)].filter((text) => text !== '').join(' ')
  }
}
