import type { Language } from '../../../shared/languages.ts'
import { useCaller } from './useCaller.ts'
import { useConsole } from './useConsole.ts'
import { useFeedback } from './useFeedback.ts'
import { chooseOwnLook } from './usePreferences.ts'

/** Stores an admin's choice of language or theme in the controller, for every console of the site; anybody else's in this browser. */
export function useLookChoice(): (look: { theme: 'light' | 'dark' } | { language: Language }) => void {
  const client = useConsole()
  const { may } = useCaller()
  const { attempt } = useFeedback()
  return (look) => {
    if (may('settings.set')) void attempt(() => client.call('settings.set', { console: look }))
    else void chooseOwnLook(look)
  }
}
