import { ref } from 'vue'
import { remember, remembered } from './remembered.ts'

/** Colours of the page; `system`: as set on the device. */
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** The chosen theme. */
export const theme = ref<Theme>(themes.find((each) => each === remembered().theme) ?? 'system')
const dark = window.matchMedia('(prefers-color-scheme: dark)')

/** Shows the chosen theme, and follows the device for `system`. */
export function showTheme(): void {
  dark.addEventListener('change', paint)
  paint()
}

/** Shows a theme, and stores it for later visits. */
export function chooseTheme(id: string): void {
  theme.value = themes.find((each) => each === id) ?? 'system'
  remember({ theme: theme.value })
  paint()
}

function paint(): void {
  const isDark = theme.value === 'dark' || (theme.value === 'system' && dark.matches)
  document.documentElement.classList.toggle('dark', isDark)
  // Colour of the browser's frame on a phone, and of an installed window.
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]'))
    meta.content = getComputedStyle(document.documentElement).getPropertyValue('--page').trim()
}
