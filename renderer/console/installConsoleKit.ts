import type { App } from 'vue'
import { installKit } from '../kit/kit.ts'
import CodeBlock from './components/CodeBlock.vue'
import CopyButton from './components/CopyButton.vue'
import ErrorState from './components/ErrorState.vue'
import FactItem from './components/FactItem.vue'
import FormField from './components/FormField.vue'
import HelpLink from './components/HelpLink.vue'
import PageHead from './components/PageHead.vue'
import PanelSection from './components/PanelSection.vue'
import PasswordField from './components/PasswordField.vue'
import ReadingBody from './components/ReadingBody.vue'
import SkeletonRows from './components/SkeletonRows.vue'
import { ask } from './composables/useFeedback.ts'
import { i18n } from './i18n/index.ts'

/** Components that templates of the console use without an import, beside those of the kit. */
const consoleParts = {
  CodeBlock,
  CopyButton,
  ErrorState,
  FactItem,
  FormField,
  HelpLink,
  PageHead,
  PanelSection,
  PasswordField,
  ReadingBody,
  SkeletonRows,
}

type ConsoleParts = typeof consoleParts

declare module 'vue' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an interface of Vue, which only an interface can add to
  export interface GlobalComponents extends ConsoleParts {}
}

/** Registers the parts of the console, and gives the kit its words and its question about unsaved input. */
export function installConsoleKit(app: App): void {
  for (const [name, part] of Object.entries(consoleParts)) app.component(name, part)
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
