import { computed, ref } from 'vue'

/** Language of the page. */
export const language = ref<'en' | 'zh' | 'de'>('en')

const all = {
  en: {
    close: 'Close',
    closeDialog: 'Close this dialog',
    cancel: 'Cancel',
    clear: 'Clear',
    discard: 'Discard your input?',
    save: 'Save changes',
    remove: 'Delete',
    name: 'Name of the room',
    hint: 'Guests see it before they join.',
    problem: 'Enter a name.',
    text: 'Council chamber',
    longText: 'A sentence that is long enough to need a second line on a phone, and that says what happens next.',
    choices: ['Everybody', 'Hosts', 'Nobody'],
  },
  zh: {
    close: '关闭',
    closeDialog: '关闭此对话框',
    cancel: '取消',
    clear: '清除',
    discard: '放弃输入的内容吗？',
    save: '保存更改',
    remove: '删除',
    name: '会议室名称',
    hint: '来宾加入前会看到它。',
    problem: '请输入名称。',
    text: '议事厅',
    longText: '这句话足够长，在手机上需要第二行，并说明接下来会发生什么。',
    choices: ['所有人', '主持人', '无人'],
  },
  de: {
    close: 'Schließen',
    closeDialog: 'Dialog schließen',
    cancel: 'Abbrechen',
    clear: 'Leeren',
    discard: 'Eingaben verwerfen?',
    save: 'Änderungen speichern',
    remove: 'Löschen',
    name: 'Name des Raums',
    hint: 'Gäste sehen ihn vor dem Beitritt.',
    problem: 'Geben Sie einen Namen ein.',
    text: 'Sitzungssaal',
    longText:
      'Ein Satz, der lang genug ist, um auf einem Telefon eine zweite Zeile zu brauchen, und sagt, was dann geschieht.',
    choices: ['Alle', 'Moderatoren', 'Niemand'],
  },
} as const

export const words = computed(() => all[language.value])
