import { useText } from '../i18n/text.ts'

/** Names an operator of records and events: of an account, or of the way in that has none. */
export function useOperatorText(): (name: string) => string {
  const { t } = useText()
  return (name) => (name === 'console key' || name === 'desktop' ? t(`eventLog.actors.${name}`) : name)
}
