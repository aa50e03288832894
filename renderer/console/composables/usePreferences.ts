import { ref } from 'vue'
import { isLanguage, type Language, type LanguageChoice, preferredLanguage } from '../../../shared/languages.ts'
import { showLanguage } from '../i18n/index.ts'
import { browserStorage } from '../../kit/storage.ts'
import { useCaller } from './site.ts'
import { useConsole } from './useConsole.ts'
import { useFeedback } from './useFeedback.ts'

/**
 * Language and theme of the page. The controller's settings decide; the browser stores a copy, so that a reload does
 * not flash.
 */

type ThemeChoice = 'system' | 'light' | 'dark'

const stored = 'roomdesk.look'
const system = window.matchMedia('(prefers-color-scheme: dark)')
/** Whether the dark theme is shown. */
export const darkTheme = ref(false)
/** Language and theme, as stored in this browser. */
interface Look {
  language: LanguageChoice
  theme: ThemeChoice
}

let shown: Look = { language: 'system', theme: 'system' }

function paint(): void {
  darkTheme.value = shown.theme === 'dark' || (shown.theme === 'system' && system.matches)
  document.documentElement.classList.toggle('dark', darkTheme.value)
}

/**
 * Applies a language and a theme, and stores them in this browser.
 * @param own whether the user of this browser chose them
 */
export async function applyLook(look: Look, own = false): Promise<void> {
  shown = look
  // If storage is disabled, the look changes with the controller's answer.
  browserStorage.set(stored, JSON.stringify(own ? { ...look, own } : look))
  paint()
  await showLanguage(look.language === 'system' ? preferredLanguage(navigator.languages) : look.language)
}

/** Applies the choice of a user who may not change the site's settings, for this browser only. */
export async function chooseOwnLook(part: Partial<Look>): Promise<void> {
  await applyLook({ ...shown, ...part }, true)
}

/** Returns whether this browser has its own language or theme. */
export function hasOwnLook(): boolean {
  return remembered().own === true
}

/** Applies the stored language and theme before the controller has answered. */
export async function applyRememberedLook(): Promise<void> {
  system.addEventListener('change', paint)
  const look = remembered()
  const known: Look = {
    language: isLanguage(look.language) ? look.language : 'system',
    theme: look.theme === 'light' || look.theme === 'dark' ? look.theme : 'system',
  }
  await applyLook(known, look.own === true)
}

function remembered(): { language?: unknown; theme?: unknown; own?: unknown } {
  const look = browserStorage.json(stored)
  return typeof look === 'object' && look !== null ? look : {}
}

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
