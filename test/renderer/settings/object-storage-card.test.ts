import { onTestFinished, test } from 'vitest'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import ObjectStorageCard from '../../../renderer/console/pages/settings/ObjectStorageCard.vue'
import { useSettings } from '../../../renderer/console/composables/site.ts'
import { defineComponent, h } from 'vue'
import { operator, press, says, show, write } from '../devices/operator-page.ts'

const page = defineComponent({
  setup() {
    const { value: settings } = useSettings()
    return () => (settings.value ? h(ObjectStorageCard) : 'reading')
  },
})

test('a refused test of the object storage is explained in the language of its operator', async () => {
  await showLanguage('zh')
  onTestFinished(() => showLanguage('en'))
  show(page, (await operator()).as({ role: 'viewer' }))
  await write('地址', 'http://127.0.0.1:9')
  await write('存储桶', 'recordings')
  await press('测试连接')
  await says('只有管理员可以执行此操作。')
})
