import '@fontsource-variable/inter/wght.css'
import '../kit/styles/tokens.css'
import '../kit/styles/base.css'
import './page.css'
import { createApp } from 'vue'
import { awaitInstallOffer } from './local/install.ts'
import { showTheme } from './local/theme.ts'
import RoomPage from './RoomPage.vue'
import { beginLanguage } from './texts/texts.ts'

showTheme()
awaitInstallOffer()
void beginLanguage().then(() => createApp(RoomPage).mount('#app'))
