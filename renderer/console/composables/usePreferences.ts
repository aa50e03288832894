import { ref } from 'vue'
import { showLanguage, systemLanguage } from '../i18n/index.ts'

/** Language and theme of the page. The controller's settings decide; the browser remembers them so that a reload does not flash. */

type LanguageChoice = 'system' | 'en' | 'zh'
type ThemeChoice = 'system' | 'light' | 'dark'

const stored = 'roomdesk.look'
const system = window.matchMedia('(prefers-color-scheme: dark)')
/** The theme shown now. */
export const darkTheme = ref(false)
let language: LanguageChoice = 'system'
let theme: ThemeChoice = 'system'

function paint(): void {
  darkTheme.value = theme === 'dark' || (theme === 'system' && system.matches)
  document.documentElement.classList.toggle('dark', darkTheme.value)
}

/** Preferences that are applied and remembered. */
interface Look {
  language: LanguageChoice
  theme: ThemeChoice
}

/** Applies a language and a theme, and remembers them in this browser. @param own whether whoever uses this browser chose them */
export async function applyLook(look: Look, own = false): Promise<void> {
  language = look.language
  theme = look.theme
  try {
    localStorage.setItem(stored, JSON.stringify(own ? { ...look, own } : look))
  } catch {
    // Storage may be switched off; then the look is known once the controller answers.
  }
  paint()
  await showLanguage(language === 'system' ? systemLanguage(navigator.languages) : language)
}

/** The choice of somebody who may not change the site's look: this browser's own from now on. */
export async function chooseOwnLook(part: Partial<Look>): Promise<void> {
  await applyLook({ language, theme, ...part }, true)
}

/** Whether this browser has a choice of its own. */
export function hasOwnLook(): boolean {
  return remembered().own === true
}

/** Applies what this browser remembers, before the controller has answered. */
export async function applyRememberedLook(): Promise<void> {
  system.addEventListener('change', paint)
  const look = remembered()
  const known: Look = {
    language: look.language === 'en' || look.language === 'zh' ? look.language : 'system',
    theme: look.theme === 'light' || look.theme === 'dark' ? look.theme : 'system',
  }
  await applyLook(known, look.own === true)
}

function remembered(): { language?: unknown; theme?: unknown; own?: unknown } {
  try {
    const look: unknown = JSON.parse(localStorage.getItem(stored) ?? '{}')
    return typeof look === 'object' && look !== null ? look : {}
  } catch {
    return {}
  }
}
