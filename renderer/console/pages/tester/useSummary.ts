import type { TesterOperation } from '../../../../shared/console/tester.ts'
import tester from '../../../../texts/en/console/tester.json'
import { type TextKey, useText } from '../../i18n/text.ts'

/** Returns a function that describes an operation. An unknown operation keeps its English description. */
export function useSummary(): (operation: TesterOperation) => string {
  const { t } = useText()
  return ({ name, summary }) =>
    Object.hasOwn(tester.summaries, name) ? t(`tester.summaries.${name}` as TextKey) : summary
}
