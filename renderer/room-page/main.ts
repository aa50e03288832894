import '@fontsource-variable/inter/wght.css'
import '../kit/styles/tokens.css'
import '../kit/styles/base.css'
import './page.css'
import { createApp } from 'vue'
import { entryOf } from './entry.ts'
import { awaitInstallOffer } from './local/install.ts'
import { showTheme } from './local/theme.ts'
import RoomPage from './RoomPage.vue'
import { beginLanguage } from './texts/texts.ts'

const { url, expiresAt = Number.POSITIVE_INFINITY } = entryOf(location)
// A bookmarked or reloaded page: the short link gives another token, or says that it has ended.
if (url !== '' && expiresAt <= Date.now()) location.replace(url)
else {
  showTheme()
  awaitInstallOffer()
  void beginLanguage().then(() => createApp(RoomPage).mount('#app'))
}
