import type { App } from 'vue'
import AppButton from './buttons/AppButton.vue'
import IconButton from './buttons/IconButton.vue'
import EmptyState from './components/EmptyState.vue'
import FactList from './components/FactList.vue'
import FieldGroup from './components/FieldGroup.vue'
import ListToolbar from './components/ListToolbar.vue'
import LoadBar from './components/LoadBar.vue'
import NoteBar from './components/NoteBar.vue'
import PageFrame from './components/PageFrame.vue'
import PageHeader from './components/PageHeader.vue'
import SearchField from './components/SearchField.vue'
import StatusDot from './components/StatusDot.vue'
import WorkSpace from './components/WorkSpace.vue'
import AppDialog from './dialog/AppDialog.vue'
import FormDialog from './dialog/FormDialog.vue'
import CheckField from './fields/CheckField.vue'
import ChoiceField from './fields/ChoiceField.vue'
import ChoiceOption from './fields/ChoiceOption.vue'
import FilterChip from './fields/FilterChip.vue'
import NumberField from './fields/NumberField.vue'
import SelectField from './fields/SelectField.vue'
import SwitchField from './fields/SwitchField.vue'
import TextField from './fields/TextField.vue'
import AppIcon from './icons/AppIcon.vue'
import { type KitHost, kitHostKey } from './kit-host.ts'
import AppMenu from './menu/AppMenu.vue'

/**
 * Small components that templates of both pages use without an import. Parts of the kit import each other, like any
 * other component.
 */
const parts = {
  AppButton,
  AppDialog,
  AppIcon,
  AppMenu,
  CheckField,
  ChoiceField,
  ChoiceOption,
  EmptyState,
  FactList,
  FieldGroup,
  FilterChip,
  FormDialog,
  IconButton,
  ListToolbar,
  LoadBar,
  NoteBar,
  NumberField,
  PageFrame,
  PageHeader,
  SearchField,
  SelectField,
  StatusDot,
  SwitchField,
  TextField,
  WorkSpace,
}

type Parts = typeof parts

declare module 'vue' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an interface of Vue, which only an interface can add to
  export interface GlobalComponents extends Parts {}
}

/** Registers the parts of the kit, and what they need of the page. */
export function installKit(app: App, host: KitHost): void {
  app.provide(kitHostKey, host)
  for (const [name, part] of Object.entries(parts)) app.component(name, part)
}
