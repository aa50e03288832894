import '../kit/styles/tokens.css'
import '../kit/styles/base.css'
import './page.css'
import { createApp } from 'vue'
import RoomPage from './RoomPage.vue'

/** Follows the system's light or dark theme. */
const dark = window.matchMedia('(prefers-color-scheme: dark)')
const paint = (): void => {
  document.documentElement.classList.toggle('dark', dark.matches)
}
dark.addEventListener('change', paint)
paint()

createApp(RoomPage).mount('#app')
