import '@fontsource-variable/inter/wght.css'
import '../styles/tokens.css'
import '../styles/base.css'
import 'virtual:uno.css'
import { createApp } from 'vue'
import { installKit } from '../kit.ts'
import GalleryPage from './GalleryPage.vue'
import { words } from './words.ts'

/** The page of the kit: every part in every state. Served by the dev server only. */
const app = createApp(GalleryPage)
installKit(app, {
  words: () => words.value,
  // Uses the browser's own question instead of the console's dialog.
  mayDiscard: () => Promise.resolve(window.confirm(words.value.discard)),
})
app.mount('#app')
