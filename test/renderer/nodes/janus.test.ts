import { mount } from '@vue/test-utils'
import { expect, test } from 'vitest'
import { installTexts, showLanguage } from '../../../renderer/console/i18n/index.ts'
import JanusFields from '../../../renderer/console/pages/nodes/JanusFields.vue'
import NodeFindings from '../../../renderer/console/pages/nodes/NodeFindings.vue'
import { tarFile } from '../../../renderer/console/pages/nodes/tarFile.ts'
import { hiddenSecret } from '../../../shared/hidden-secret.ts'

const global = { plugins: [{ install: installTexts }] }

test('a stored secret is kept unless another is entered, or it is removed', async () => {
  const values = {
    ws_url: 'ws://10.0.0.7:8188',
    admin_url: '',
    api_secret: hiddenSecret,
    admin_secret: hiddenSecret,
    admin_key: '',
    token_secret: '',
  }
  const field = () => ({ problem: '', onFocusout: () => undefined })
  const form = mount(JanusFields, { props: { modelValue: values, field }, global })
  expect(form.html()).not.toContain(hiddenSecret)
  const [api] = form.findAll('input[type=password]')
  expect([api?.attributes('placeholder'), api?.element]).toMatchObject(['Stored; type to replace', { value: '' }])
  await api?.setValue('another')
  await form.get('button[aria-label="Remove the stored admin_secret"]').trigger('click')
  expect(values).toMatchObject({ api_secret: 'another', admin_secret: '', admin_key: '' })
})

test("the findings of a test are shown in the operator's language, with the affected names", async () => {
  const findings = [
    { code: 'wsUnreachable', severity: 'error', message: 'm', values: { reason: 'the port is closed' } },
    { code: 'clockAhead', severity: 'notice', message: 'n', values: { seconds: '20' } },
  ] as const
  const shown = mount(NodeFindings, { props: { findings: [...findings] }, global })
  expect(shown.text()).toContain('does not answer (the port is closed): check ws_url')
  await showLanguage('zh')
  const chinese = mount(NodeFindings, { props: { findings: [...findings] }, global }).text()
  await showLanguage('en')
  expect(chinese).toContain('没有应答（端口未开放）')
  expect(chinese).toContain('20 秒')
})

test('the configuration files are an archive that tar reads', async () => {
  const text = 'general: {\n}\n'
  const bytes = new Uint8Array(await tarFile([{ name: 'janus.jcfg', text }], 1_700_000_000).arrayBuffer())
  const ascii = new TextDecoder('latin1').decode(bytes)
  expect(ascii.slice(0, 11)).toBe('janus.jcfg\0')
  expect(ascii.slice(100, 107)).toBe('0000600')
  expect(parseInt(ascii.slice(124, 135), 8)).toBe(text.length)
  expect(ascii.slice(257, 265)).toBe('ustar\u000000')
  const header = bytes.slice(0, 512).fill(0x20, 148, 156)
  expect(parseInt(ascii.slice(148, 154), 8)).toBe(header.reduce((sum, byte) => sum + byte, 0))
  expect(ascii.slice(512, 512 + text.length)).toBe(text)
  expect(bytes.length).toBe(512 * 4)
})
