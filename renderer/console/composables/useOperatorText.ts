import { useText } from '../i18n/text.ts'

/** Returns the name of an operator in records and events: of an account, or of a sign-in without an account. */
export function useOperatorText(): (name: string) => string {
  const { t } = useText()
  return (name) => (name === 'console key' || name === 'desktop' ? t(`eventLog.actors.${name}`) : name)
}
