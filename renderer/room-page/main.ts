import '@fontsource-variable/inter/wght.css'
import '../kit/styles/tokens.css'
import '../kit/styles/base.css'
import './page.css'
import 'virtual:uno.css'
import { createApp } from 'vue'
import { installKit } from '../kit/kit.ts'
import { entryOf } from './entry.ts'
import { awaitInstallOffer } from './local/install.ts'
import { showTheme } from './local/theme.ts'
import RoomPage from './RoomPage.vue'
import { beginLanguage, texts } from './texts/texts.ts'

const { url, expiresAt = Number.POSITIVE_INFINITY } = entryOf(location)
// For a bookmarked or reloaded page, the short link returns a new token, or reports that the link has expired.
if (url !== '' && expiresAt <= Date.now()) location.replace(url)
else {
  showTheme()
  awaitInstallOffer()
  const app = createApp(RoomPage)
  installKit(app, { words: () => ({ ...texts.value.controls, closeDialog: texts.value.controls.close }) })
  void beginLanguage().then(() => app.mount('#app'))
}
