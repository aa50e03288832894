import type { Language } from '../../../shared/languages.ts'
import { useCaller } from './useCaller.ts'
import { useConsole } from './useConsole.ts'
import { useFeedback } from './useFeedback.ts'
import { chooseOwnLook } from './usePreferences.ts'

/**
 * Stores the choice of language or theme: an admin's in the controller, for all consoles of the site; that of others in
 * this browser.
 */
export function useLookChoice(): (look: { theme: 'light' | 'dark' } | { language: Language }) => void {
  const client = useConsole()
  const { may } = useCaller()
  const { attempt } = useFeedback()
  return (look) => {
    if (may('settings.set')) void attempt(() => client.call('settings.set', { console: look }))
    else void chooseOwnLook(look)
  }
}
