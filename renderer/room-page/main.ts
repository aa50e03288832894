import '../kit/styles/tokens.css'
import '../kit/styles/base.css'
import './page.css'
import { createApp } from 'vue'
import RoomPage from './RoomPage.vue'

/** Light or dark by the system, now and when it changes. */
const dark = window.matchMedia('(prefers-color-scheme: dark)')
const paint = (): void => {
  document.documentElement.classList.toggle('dark', dark.matches)
}
dark.addEventListener('change', paint)
paint()

createApp(RoomPage).mount('#app')
