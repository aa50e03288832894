import type { App } from 'vue'
import { installKit } from '../kit/kit.ts'
import { ask } from './composables/useFeedback.ts'
import { i18n } from './i18n/index.ts'

/** Provides the kit with the console's texts, and with the question about unsaved input. */
export function installConsoleKit(app: App): void {
  const { t } = i18n.global
  installKit(app, {
    words: () => ({
      close: t('words.close'),
      closeDialog: t('words.closeDialog'),
      cancel: t('words.cancel'),
      clear: t('words.clear'),
    }),
    mayDiscard: () =>
      ask({
        title: t('unsaved.title'),
        body: t('unsaved.body'),
        action: t('words.discard'),
        refusal: t('unsaved.stay'),
      }),
  })
}
